within Kilohertz;
block Device "What the model exchanges with the world in real time: one block for each device"
  parameter String driver = "udp" "Driver: udp, tcp, serial, shm, modbus-server, ..." annotation(Evaluate=true);
  parameter String settings[:] = fill("", 0) "Settings of the device; texts such as local=:5000" annotation(Evaluate=true);
  parameter String receive[:] = fill("", 0) "Inputs of the model that it drives, in order; texts such as u, or u gain=2 safe=0" annotation(Evaluate=true);
  parameter String send[:] = fill("", 0) "Variables of the model that it gets, in order; texts such as mass.s, or mass.s bits=12 low=0 high=1" annotation(Evaluate=true);
  annotation(Icon(graphics={Rectangle(extent={{-80,60},{80,-60}}, lineColor={160,60,0}, fillColor={255,245,235}, fillPattern=FillPattern.Solid), Line(points={{-60,20},{60,20},{40,32}}), Line(points={{60,-20},{-60,-20},{-40,-32}}),
    Text(extent={{-100,-65},{100,-95}}, textString="%driver"), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
    Documentation(info="<html><p>Put one for each device into a model: <code>khz run MODEL</code> then receives its inputs and sends what is listed, in
      every step. A signal is named from the top of the model; after it stand its channel (<code>address=</code>) and scaling as
      <code>key=value</code>. Drivers, their settings and those of signals: the reference of devices. It has no equations: a simulation is
      what it was.</p></html>"));
end Device;
