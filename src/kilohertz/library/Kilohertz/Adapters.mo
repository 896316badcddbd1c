within Kilohertz;
package Adapters "Join our components with those of the Modelica Standard Library, where that is installed"
  model Rotational "A shaft of ours goes on as a shaft of the standard library"
    Kilohertz.Rotational.Flange ours "Our side" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Modelica.Mechanics.Rotational.Interfaces.Flange_b theirs "Side of the standard library" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    ours.phi = theirs.phi;
    ours.tau + theirs.tau = 0;
    annotation(Icon(graphics={Rectangle(extent={{-90,10},{90,-10}}, fillColor={180,180,180}, fillPattern=FillPattern.Solid), Line(points={{0,40},{0,-40}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>One angle, one torque. Needs the Modelica Standard Library.</p></html>"));
  end Rotational;

  model Translational "A rod of ours goes on as a rod of the standard library"
    Kilohertz.Translational.Flange ours "Our side" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Modelica.Mechanics.Translational.Interfaces.Flange_b theirs "Side of the standard library" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    ours.s = theirs.s;
    ours.f + theirs.f = 0;
    annotation(Icon(graphics={Rectangle(extent={{-90,8},{90,-8}}, lineColor={0,127,0}, fillColor={200,225,200}, fillPattern=FillPattern.Solid), Line(points={{0,40},{0,-40}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>One position, one force. Needs the Modelica Standard Library.</p></html>"));
  end Translational;

  model Electrical "A wire of ours goes on as a wire of the standard library"
    Kilohertz.Electrical.Pin ours "Our side" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Modelica.Electrical.Analog.Interfaces.NegativePin theirs "Side of the standard library" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    ours.v = theirs.v;
    ours.i + theirs.i = 0;
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, color={0,0,255}), Line(points={{0,40},{0,-40}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>One potential, one current. Needs the Modelica Standard Library.</p></html>"));
  end Electrical;

  model Thermal "A heat port of ours goes on as one of the standard library"
    Kilohertz.Thermal.HeatPort ours "Our side" annotation(Placement(transformation(extent={{-110,-10},{-90,10}})));
    Modelica.Thermal.HeatTransfer.Interfaces.HeatPort_b theirs "Side of the standard library" annotation(Placement(transformation(extent={{90,-10},{110,10}})));
  equation
    ours.T = theirs.T;
    ours.Q + theirs.Q_flow = 0;
    annotation(Icon(graphics={Line(points={{-90,0},{90,0}}, color={191,0,0}), Line(points={{0,40},{0,-40}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>One temperature, one heat flow. Needs the Modelica Standard Library.</p></html>"));
  end Thermal;

  model MultiBody "A frame of ours goes on as a frame of the standard library"
    Kilohertz.MultiBody.Frame ours "Our side" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    Modelica.Mechanics.MultiBody.Interfaces.Frame_b theirs "Side of the standard library" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
  equation
    Connections.branch(ours.R, theirs.R);
    ours.r_0 = theirs.r_0;
    ours.R.T = theirs.R.T;
    ours.R.w = theirs.R.w;
    ours.f + theirs.f = zeros(3);
    ours.t + theirs.t = zeros(3);
    annotation(Icon(graphics={Rectangle(extent={{-90,6},{90,-6}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{0,40},{0,-40}}), Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}),
      Documentation(info="<html><p>One place, one orientation, one force and torque. Each library has a world of its own, and both are called <code>world</code>:
        put the part with ours into a model of its own, with the same gravity. Needs the Modelica Standard Library.</p></html>"));
  end MultiBody;
  annotation(Documentation(info="<html><p>Signals need no adapter: inputs and outputs of both libraries are connected as they are. Heat flow has another name in the
    standard library; the other connectors have the same variables, and an adapter makes the change of library visible.</p></html>"));
end Adapters;
