within Kilohertz.Examples;
package Robot "An arm with seven joints and its servos, after the space arm of Ferretti et al. 2005, with our own parameters"
  annotation(Documentation(info="<html><p>The source gives the structure: a chain of seven joints, seven servos with a two-phase motor, current control, elastic transmission with
    backlash and a brake on the motor; inputs are seven currents and one signal for the brakes, outputs seven angles of motors. Lengths, masses and
    data of the drives are ours, of the size of an arm of two metres.</p></html>"));
end Robot;
